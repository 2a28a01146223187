"""What a plan stands on: what there is to deal, how much a list holds, and how many lists there are."""
