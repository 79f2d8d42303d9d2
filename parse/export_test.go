package parse

// WorkPerByte is what readers may look at for each byte of a text.
const WorkPerByte = workPerByte

// Spent returns how many bytes readers count that they have looked at in a text
// by the end of it.
func Spent(in Input, text string) int {
	r := newReading(&in, text)
	before := r.budget
	r.scan()
	return before - r.budget
}

// SpentBy returns how many bytes a stream counts that it has looked at again.
func SpentBy(st *Stream) int { return st.spent }
