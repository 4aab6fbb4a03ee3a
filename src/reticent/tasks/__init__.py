"""What a user came for: similarity, neighbours, clustering, recommendation."""
