"""Put negations into sentences, and tell whether a sentence holds one: rules of English and Japanese."""
