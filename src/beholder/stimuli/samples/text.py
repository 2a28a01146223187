"""Sample texts: answers to everyday questions, edited, plain, clumsy and garbled."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from pathlib import Path

from beholder.stimuli.copies import put_in_place

_PASSAGES: Mapping[str, Mapping[str, str]] = {
    "bread": {
        "edited": "Stale bread comes back to life with water and heat. Run the crust briefly under the tap, then bake "
        "the loaf at 180 degrees for eight minutes. The steam softens the crumb while the oven crisps the outside. "
        "Eat it the same day: the trick works only once.",
        "plain": "You can make stale bread good again. Put some water on the crust and bake the bread at 180 degrees "
        "for eight minutes. The inside gets soft and the outside gets crisp. You should eat it on the same day "
        "because it only works one time.",
        "clumsy": "About bread being stale, there is a way of making it be good, which is that water is put on it, on "
        "the crust of the bread, and then there is baking of the bread for eight minutes in an oven which has 180 "
        "degrees. It is soft then inside and outside it is crisp, and the same day is when eating it should be done.",
        "garbled": "Bread stale it water good again with the tap crust. Bake degrees eight, the 180 minutes loaf is. "
        "Inside of soft steam outside it crisps the oven does while. Same the day eat because works once of only "
        "trick.",
    },
    "stars": {
        "edited": "Stars twinkle because we watch them through moving air. Each star is so far away that its light "
        "reaches us as a single thin ray, and pockets of warm and cold air bend that ray a little this way and that. "
        "Planets look larger, so the wobbles average out and they shine steadily.",
        "plain": "Stars twinkle because of the air. A star is very far away, so its light is like one thin ray. Warm "
        "and cold air bends the ray in different directions. Planets are closer and look bigger, so they do not "
        "twinkle much.",
        "clumsy": "The reason that the stars are twinkling is because of air, the air moves and it is warm and also "
        "it is cold and this makes the ray, a thin one since the star has a big distance, to be bent. With planets it "
        "is less so, they have more of a size and so the twinkling of them is not there so much.",
        "garbled": "Twinkle the stars air because moving is through. Far so ray thin it light a single of reaches. "
        "Cold and pockets bends this that warm way little. Planets larger the wobbles they steady, shine average look "
        "of it.",
    },
    "garden": {
        "edited": "Water the garden early in the morning. The soil is cool, so most of the water sinks to the roots "
        "instead of drying in the sun, and the leaves have all day to dry, which keeps mildew away. One thorough "
        "soaking a week does more good than a sprinkle every day.",
        "plain": "It is best to water the garden in the morning. The ground is cool then and the water goes down to "
        "the roots. The leaves can dry during the day, so they do not get mildew. Water a lot once a week and not a "
        "little every day.",
        "clumsy": "For the watering of gardens, morning is the time that is the best one, the ground has coolness and "
        "so water is going to roots and is not being dried by sun. Leaves also are getting dry and mildew will be not "
        "there. Once in the week much water is better as each day few water.",
        "garbled": "Morning garden the water early is. Cool roots the sinks soil most to of it, sun the drying "
        "instead. Leaves day all mildew dry keeps which away have. Week a soaking good one every sprinkle more than "
        "day does.",
    },
    "train": {
        "edited": "If your train is cancelled, keep the ticket and take the next one. Staff will not charge you "
        "again, even when it is a faster service. Should you arrive more than an hour late, you can claim back half "
        "the fare; the form is on the railway's website and takes about three minutes.",
        "plain": "When your train is cancelled you can use your ticket on the next train. You do not have to pay "
        "more, also if the train is a faster one. If you are more than an hour late you can get half of the money "
        "back. There is a form for this on the website.",
        "clumsy": "In case of the train having been cancelled, the ticket of it can be used in a next train, and a "
        "payment is not to be made again also not in a faster train. By a lateness of over one hour there is half of "
        "the money that comes back to you, with a form, this is found in the website.",
        "garbled": "Cancelled ticket if keep train the next is your one. Charge not again staff will faster even it "
        "service you. Hour late more arrive than half claim should fare the back. Form minutes the website three is "
        "takes railway about.",
    },
    "sleep": {
        "edited": "A short nap in the early afternoon sharpens the mind, provided it ends in time. Twenty minutes are "
        "enough to rest without falling into deep sleep; after an hour you wake up groggy and lie awake at night. Set "
        "an alarm, dim the light, and leave the phone in another room.",
        "plain": "A short nap after lunch can help you to think better. It should be about twenty minutes long. If "
        "you sleep for an hour you feel tired when you wake up, and you cannot sleep well at night. Use an alarm and "
        "put your phone away.",
        "clumsy": "Napping shortly, when it is after lunch, is something by which thinking gets better, but the "
        "twenty minutes should be its length. Sleeping which lasts an hour makes that you are feeling tired from it "
        "and in the night also sleep is not coming good. An alarm is to use, the phone is to be away.",
        "garbled": "Nap afternoon a sharpens short the early mind it ends. Minutes enough deep twenty rest falling "
        "sleep are without. Groggy hour after you night awake wake an lie. Alarm phone the dim another set light room "
        "leave.",
    },
    "letters": {
        "edited": "A good letter of thanks is short and particular. Name the gift, say what you have done with it, "
        "and add one line about the giver rather than yourself. Write it within a week, by hand if you can: nobody "
        "minds crooked lines, and everybody keeps the card.",
        "plain": "A letter of thanks should be short. Say what the gift was and what you did with it. Write also "
        "something about the person who gave it. It is nice to write it by hand and to send it in the first week.",
        "clumsy": "Letters in which thanks are given should have shortness, and the gift should be said and the doing "
        "with it which you did. About the person of the gift there should be also a thing written. With the hand is "
        "the writing nicer and the sending of it is in one week.",
        "garbled": "Letter thanks particular of a short good is and. Gift the done it name with say have you what. "
        "Giver line one yourself rather the add than. Week hand crooked it by within everybody lines card keeps "
        "write.",
    },
}
"""Contents, then conditions. All four versions of a content say the same thing, as far as they can."""

CONTENTS = tuple(_PASSAGES)


def passage(content: int, condition: str) -> str:
    """Return one sample; after the last content they begin again."""
    return _PASSAGES[CONTENTS[content % len(CONTENTS)]][condition]


def write(target: Path, content: int, condition: str) -> None:
    """Write one sample as UTF-8, whole or not at all."""
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        part.write_text(passage(content, condition) + "\n", "utf-8", newline="\n")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
