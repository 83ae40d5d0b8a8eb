"""Converts counted pretokens to distinct segments, and chooses the alphabet."""
