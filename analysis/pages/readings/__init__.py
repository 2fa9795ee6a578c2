"""Compare what several readings make of the same prompts: is it the model, or the reading?"""
