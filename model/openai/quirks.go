package openai

import "rein.example/rein/model/catalog"

// Quirks say how a server differs in what it takes; see [catalog.Quirks].
type Quirks = catalog.Quirks

// QuirksOf returns what the catalogue knows of a provider, or, where the host is
// OpenAI's or Azure's, of these. A provider called "openai" at another host is a
// compatible server of which nothing is known.
func QuirksOf(provider, host string) Quirks {
	return catalog.QuirksOf(provider, host, catalog.Chat)
}

// ResponsesQuirksOf is what [QuirksOf] is, for the Responses API. Quirks that
// concern the other wire only have no meaning here.
func ResponsesQuirksOf(provider, host string) Quirks {
	return catalog.QuirksOf(provider, host, catalog.Responses)
}
