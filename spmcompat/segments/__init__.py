"""From counted pretokens to distinct segments."""
