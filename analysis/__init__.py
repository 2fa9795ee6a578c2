"""Read run folders; make tables, figures and reports of them. From Python: `waver.open`."""
