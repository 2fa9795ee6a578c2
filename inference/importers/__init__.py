"""Import other people's files: each importer turns them into a run folder like any other.

An importer is a file with a command `import KIND` (`ground.commands` says how such a file looks). The format of a
single study stands with its protocol.
"""

COMMAND = "import"
HELP = "make a run folder from other people's files"
LISTED = ("kinds of file", "KIND")
