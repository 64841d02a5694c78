"""What texts are about: categorisers, and the topics of posts and users that come of their answers."""

from crawler.topics.contract import Categoriser, Topic, categorisers

categorisers.load(__name__)

__all__ = ["Categoriser", "Topic", "categorisers"]
