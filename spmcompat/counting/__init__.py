"""From sentences to counted pretokens."""
