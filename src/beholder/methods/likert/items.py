"""Ready-made sets of statements, in our own wording: scores are not interchangeable with published ones.

The ids are those of the avatar paper (Templates A and B), so that a study with a licence to other wording can give its
own text for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from beholder.methods.contract import Question, Stimulus


class Item(NamedTuple):
    """One statement, or a list of things to tick."""

    id: str
    text: str
    keyed: Literal["+", "-"] = "+"
    ticks: tuple[str, ...] = ()
    about: Literal["all", "picture", "sound"] = "all"
    """What a stimulus must have for this to be asked."""

    def question(self) -> Question:
        """Return the item as a question on its usual scale."""
        fields = {"id": self.id, "text": self.text, "scale": "agree5", "keyed": self.keyed, "ticks": self.ticks}
        return Question.model_validate(fields)


@dataclass(frozen=True)
class ItemSet:
    """Statements that belong together; `extras` are asked only if the study names them."""

    items: tuple[Item, ...]
    scenario: str = ""
    extras: tuple[Item, ...] = ()
    shows_driving_video: bool = False
    """The stimulus is shown beside the reference of its content: the video that drives the avatar."""


_REALISTIC = Item("realistic", "What I see could pass for a filmed person.")
_LOOKSLIKE = Item("lookslike", "The avatar and the filmed person are recognisably the same individual.")
_EXPRESSIONS = Item(
    "facialexpressions", "The avatar's face shows the same feelings, at the same moments, as the filmed face."
)
_GESTURES = Item("gesture_acc", "The avatar's hands and body move as the filmed person's do.")
_SIDE_BY_SIDE_SCENARIO = (
    "On the left you see an avatar, on the right the filmed person who moves it. You hear the filmed person."
)

ITEM_SETS: Mapping[str, ItemSet] = {
    "avatar-a": ItemSet(
        scenario="Think of a video call at work. You, or the person you are calling, would appear as in this clip.",
        items=(
            _REALISTIC,
            Item("trust", "I would have confidence in a colleague who appears like this."),
            Item("comfortableusing", "I would gladly appear this way in my own work calls."),
            Item("comfortableinteracting", "Talking with someone who appears this way would feel fine to me."),
            Item("appropriate", "Appearing this way fits a work call."),
            Item("creepy", "Something about this appearance makes me uneasy.", "-"),
            Item("formal", "This appearance has a formal, businesslike look."),
            Item("like", "I find this appearance pleasant."),
        ),
    ),
    "avatar-b": ItemSet(
        scenario=_SIDE_BY_SIDE_SCENARIO, items=(_LOOKSLIKE, _EXPRESSIONS), extras=(_GESTURES,), shows_driving_video=True
    ),
    "avatar-short": ItemSet(
        scenario=_SIDE_BY_SIDE_SCENARIO, items=(_REALISTIC, _LOOKSLIKE, _EXPRESSIONS), shows_driving_video=True
    ),
    "sync": ItemSet(
        scenario="Notice how well what you see goes together with what you hear.",
        items=(
            Item("lips", "The lips move in time with the words."),
            Item("body", "Head, hands and body move in time with the speech."),
            Item("delay", "There is a delay between what I hear and what I see.", "-"),
        ),
    ),
    "problem-token": ItemSet(
        items=(
            Item(
                "picture",
                "What was wrong with the picture? Tick all that apply.",
                ticks=(
                    "It froze or jerked",
                    "It was blurred",
                    "There were blocks or stray edges",
                    "There was noise or flicker",
                    "The colours or the brightness were wrong",
                    "Parts were missing or misplaced",
                    "Something else (please write it below)",
                ),
                about="picture",
            ),
            Item(
                "sound",
                "What was wrong with the sound? Tick all that apply.",
                ticks=(
                    "It broke off or stuttered",
                    "It was muffled",
                    "It was distorted or sounded like a robot",
                    "There was noise or hum",
                    "There was an echo",
                    "It was too soft or too loud",
                    "It was not in time with the picture",
                    "Something else (please write it below)",
                ),
                about="sound",
            ),
        ),
    ),
}


def items_of_set(name: str | None, extra: tuple[str, ...] = ()) -> tuple[Item, ...]:
    """Return the items of a set, and those of its extras that are named."""
    if name is None:
        return ()
    item_set = ITEM_SETS[name]
    return (*item_set.items, *(item for item in item_set.extras if item.id in extra))


def applies_to(item: Item, stimulus: Stimulus) -> bool:
    """Return whether a stimulus has what an item is about."""
    has_sound = stimulus.medium == "audio" or (stimulus.medium == "video" and stimulus.probe.audio_codec != "")
    has_picture = stimulus.medium in ("video", "image")
    return {"all": True, "picture": has_picture, "sound": has_sound}[item.about]
