"""Ask language models the same question in many wordings; write run folders."""
