"""What a reviewer sees of notes, whatever shows it: pure, and rendered by every face alike."""
