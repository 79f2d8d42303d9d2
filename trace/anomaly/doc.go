// Package anomaly answers: what in this run is probably not as it should be?
//
// A [Fold] takes the events of a run one by one and finds what stands out in them, each
// with the step, the call and the event that it belongs to, its figures, what it usually
// means and the command to go on with. It is pure: it reads nothing but the events, and
// nothing is recorded for it. What the events do not say stays unknown, and nothing is
// concluded from that.
//
// It is meant to be precise rather than to find much. A warning is what probably
// explains a bad end; a notice is worth knowing. Of 120 recorded runs of a benchmark, 1 of
// the 36 that have ended well has a warning and 14 of the 84 that have not, and 5 and 31
// have any (make measure-anomalies): most bad ends are mistakes in what the task means,
// of which a journal shows nothing. What models write is looked at for claims in English
// only.
//
// The kinds, from what explains most to what explains least:
//
//   - truncation (warning): results of one tool have the same size, at a round limit or exactly, over different arguments. It usually means: the tool cuts what it returns without saying so, and the model takes the part for the whole. Look at: rein request {run} --step {after} --diff
//   - prompt_cut (warning): the server counts the same input for requests that grow. It usually means: the server cuts what it is sent, from the front, without saying so: the task or the rules are gone. Look at: rein request {run} --step {step}
//   - claim_without_call (warning or notice): an answer says that something was done, and no call that could have done it has succeeded. It usually means: the model believes, or makes believe, that it has acted. Look at: rein show {run} --step {step}
//   - file_not_written (warning or notice): an answer says that a file was changed, and no call has named it. It usually means: the model believes, or makes believe, that it has changed the file. Look at: rein show {run}
//   - done_again (warning): a call that is to be done once has taken effect more than once on the same thing. It usually means: the first act was wrong or was taken for failed; both stand, unless something has taken the first one back. Look at: rein show {run} --step {step}
//   - unsupported_argument (warning): a call that is to be done once has taken effect with an id or a number that stands in nothing the model was shown. It usually means: the model has made the value up, or has worked it out in its head. Look at: rein request {run} --step {step}
//   - unknown_outcome (warning): a call has begun, and nobody knows whether it took effect. It usually means: it may have taken effect, or may still, and a repeat could do it twice: find out, then say so with settle. Look at: rein show {run} --step {step}
//   - length (warning or notice): a reply was cut at the limit of its length. It usually means: the limit is too low for what was asked, or the model went round in circles; what was cut off is lost. Look at: rein show {run} --step {step}
//   - repeated_call (warning or notice): the same tool is called with the same arguments, and nothing was changed between. It usually means: the model does not see that it has the answer, or does not understand it: the result says too little, or is not in view any more. Look at: rein request {run} --step {step} --diff
//   - unsupported_amount (notice): an answer names an amount of money that stands in nothing the model was shown or has asked a tool. It usually means: the model has worked it out in its head, or has made it up. Look at: rein request {run} --step {step}
//   - tool_errors (warning or notice): at least half of a tool's calls have failed. It usually means: the tool's document does not say how it is to be called, its errors do not say what to do, or what it needs is not there. Look at: rein show {run}
//   - unread_result (notice): a result was shown in part, and the rest was not read before the answer. It usually means: the answer may lack what stood in the rest. Look at: rein request {run} --step {after} --diff
//   - file_not_read_back (notice): files were changed, and neither read again nor tried before the answer. It usually means: nobody has looked at what was written. Look at: rein show {run}
//   - cost_growth (notice): new input of a step grows, and no cached prefix explains it. It usually means: each step pays for the whole conversation again: nothing is cached, or the results are too long. Look at: rein show {run}
//   - cache_lost (notice): the server has reused much less of the request than of the one before. It usually means: a rewrite of the context, other tools, another model, too long a pause, or a server that has dropped it: the text says which. Look at: rein request {run} --step {step} --diff
//   - long_wait (notice): something has taken far longer than is usual in the run. It usually means: a busy server, a slow tool or a person who was not there; it costs time, and cached prefixes expire meanwhile. Look at: rein show {run} --step {step}
//   - usage_mismatch (notice): the parts of what a server says it has used do not add up. It usually means: the server reports in a way that Rein does not know: tokens and cost of the run are not to be trusted. Look at: rein show {run} --step {step}
package anomaly
