"""Roles in plain words: what an annotator or a coterie is, as far as the posterior supports it."""

from coterie.roles.name import Roles, roles_of

__all__ = ["Roles", "roles_of"]
