"""Tell whether the wordings were enough: how far means, differences and rankings rest on the wordings asked."""
