"""Ask whether wordings mean what their originals mean, and how well each way of asking tells."""
