"""The page about protocol `scored`: numbers such as F1 or a judge's 1-5, and what the wording does to them."""
