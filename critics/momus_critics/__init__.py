"""The critics that ship with Momus, each a plug-in like anybody else's."""
