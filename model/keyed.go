package model

// Keyed is what a [Client] also implements if its server counts its calls together
// with those of other clients, as servers do by key.
type Keyed interface {
	// LimitKey names what the server's limits count by: equal for clients whose
	// calls share one limit, and different for others. It tells nothing of the key
	// that is sent, and means something in this process only, so that it is not to
	// be kept. It does not do I/O.
	LimitKey() string
}

// LimitKey returns what the limits of c's server count by; "" is not known.
func LimitKey(c Client) string {
	if k, ok := c.(Keyed); ok {
		return k.LimitKey()
	}
	return ""
}
