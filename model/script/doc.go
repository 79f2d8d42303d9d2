// Package script answers: what does a model do whose every reply is written in a file?
//
// It is the test double for a language model. A [Script] is played in process
// by [New], as a [model.Client], and over HTTP by [Handler], as a server that
// speaks OpenAI Chat Completions and breaks as real servers do. Both play the
// same file in the same way.
//
// # The file
//
// A script is one YAML document of at most 1 MiB, without anchors, aliases and
// tags. A turn is one reply of the model. In its shortest form it is a text, the
// answer:
//
//	turns:
//	  - The order is on its way.
//
// A turn with more to it is a mapping:
//
//	turns:
//	  - call: {name: read_file, arguments: {path: a.txt}}
//	  - reason: The total needs both numbers.   # reasoning, before the text
//	    say: Let me look at both.               # the text
//	    calls:                                  # several calls in one reply
//	      - {name: read_file, arguments: {path: b.txt}}
//	      - {name: get_now}
//	  - say: Both are fine.
//
// A call that a model writes as text, such as a fenced block of JSON, is just
// text. A call may also say
//
//	id: call_abc              # instead of call_<turn>_<n>, both from 1
//	raw_arguments: '{"path'   # instead of arguments: sent exactly so
//
// and a turn may also say
//
//	finish: length            # the wire's finish reason; else stop or tool_calls
//	usage: none               # nothing is said of tokens
//	usage: {input: 120, output: 8, cached: 100, reasoning: 2}  # what is left out is unknown
//	delay: 20ms               # before the first byte, at every try
//	chunk: 5                  # bytes in a piece of a stream, whole characters; 24
//	expect: {…}               # what the request must hold
//	faults: […]               # what goes wrong before the reply arrives
//
// Without usage the numbers are a quarter of the bytes, rounded up.
//
// # Which turn is played
//
// The place in the script follows from the request alone: every assistant
// message in it stands for one turn that has been played. So a server that was
// killed and started again goes on where it was, and a conversation may be
// forked or repeated at will. (It also means that assistant messages must not
// be dropped from the front of the conversation.)
//
// A turn may be conditional, and turns may be grouped. The conditions look at
// the tool results in front of the turn: result names a tool, whose latest
// result counts, or is left out for the last result of all; contains and lacks
// are texts. A condition on a result that is not there does not hold. Of a list
// of conditions one has to hold.
//
//	turns:
//	  - call: {name: check_outbox}
//	  - when: {result: check_outbox, contains: 0 messages}   # else skipped
//	    say: It was not sent.
//	  - until: {contains: "100%"}        # asked after each round
//	    repeat: 5                       # at most; 100 if not said
//	    turns:
//	      - call: {name: poll}
//	  - repeat: 1000                    # exactly so often
//	    turns:
//	      - call: {name: count, arguments: {n: "{{turn}}"}}
//
// Two kinds of requests have turns of their own, if the script has them: final
// is played when no tools are offered or their use is forbidden, structured
// when an answer of a named JSON schema is asked for. Each is a turn, or a list
// of which the first whose condition holds is played.
//
//	final: I ran out of steps; the total is at least 100.
//	structured:
//	  verdict:
//	    - {when: {result: write_file, contains: wrote}, say: '{"done": true}'}
//	    - '{"done": false}'
//
// What Rein itself asks beside the steps, completion_check and read_back, is answered
// by a script without turns for it: everything is done, and the goal is served.
//
// A top-level model is the only model name that the server then knows.
//
// # Values from earlier results
//
// In say, reason, raw_arguments and all strings within arguments:
//
//	{{result "get_now"}}              the latest result of a tool
//	{{result 3}}                      the third result of the conversation
//	{{field "get_now" "time"}}        a member of a result that is JSON; a.b.0 goes deeper
//	{{match "get_now" `at (\S+)`}}    the first group, or else the whole, of what an RE2
//	                                  expression finds first
//	{{turn}}                          the number of this turn, from 1
//	{{"{{"}}                          the text between the quotes
//
// A value that is not there fails the request.
//
// # What a request must hold
//
//	expect:
//	  contains: A-1042              # some message has this text; or a list of texts
//	  last_result: [saved, a.txt]   # the last tool result has these
//	  tools: [read_file]            # these are offered
//
// What is missing fails the request: HTTP 400, or an error of class bad_request.
//
// # Faults
//
// One fault is played at each try of a turn, in order; then the turn succeeds.
// The tries are counted for each place in the conversation, by the [Client] or
// [Server].
//
//	faults:
//	  - {status: 429, retry_after: 1s}      # also type, code, message; or body, sent as it is
//	  - {close: true}                       # the connection ends without an answer
//	  - {cut: 0.5}                          # the connection ends after half the body
//	  - {cut: 40}                           # … after 40 bytes; at least one byte is missing
//	  - {cut: 0.5, stall: 2s}               # … after 2 s of silence
//	  - {stall: 2s}                         # 2 s of silence, then the connection ends
//	  - {html: true}                        # a web page with status 200
//	  - {error_event: {type: server_error, code: overloaded, message: try later}}
//	                                        # the stream reports an error half-way
//	  - {empty: true}                       # a complete reply without any word
//
// A body ends with its terminal event, so a cut close to the end can leave a
// complete reply. In process there is no body: a cut counts the bytes of
// reasoning, text and arguments and never leaves a complete reply.
package script
