"""People: everybody who came, by pseudonym, and what somebody does about one of them."""
