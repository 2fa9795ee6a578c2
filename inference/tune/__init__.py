"""Tune models: `waver tune nli` makes encoders for the engine `classifier`, `choice` adapters for `run --lora`."""

VERBS = {
    "choice": "tune a model on paraphrases of multiple-choice questions (LoRA); the same call continues a stopped one",
    "nli": "tune an encoder to label premises and hypotheses; the same call continues a stopped one",
}
