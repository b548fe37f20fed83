"""`condal bench`: compare condal with every installed peer, all judged by one certificate."""
