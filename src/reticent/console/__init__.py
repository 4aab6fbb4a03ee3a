"""The gateway over HTTP: an API for providers, pages for people and for who runs it."""
