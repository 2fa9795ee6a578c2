"""What all importers share: logged responses, studies made of them, and saving."""
