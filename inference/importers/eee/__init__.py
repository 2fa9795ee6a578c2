"""Import the records of Every Eval Ever."""
