"""The gateway between people and the services that want their data; HTTP is in console/."""

from reticent.gateway.answers import Asked
from reticent.gateway.directory import Changed, NoSuchPerson, Person
from reticent.gateway.service import Gateway, NotOffered

__all__ = ["Asked", "Changed", "Gateway", "NoSuchPerson", "NotOffered", "Person"]
