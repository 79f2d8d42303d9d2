package bpe

// work is what counting needs beside the text. The zero value is ready.
type work struct {
	room [small]Token
	rank [small]uint32
	// stack is room, or more once that was too little.
	stack []Token
	// blocked has a bit for each place at which no token may end; it is empty while
	// there is none.
	blocked []uint64
}

// piece returns the tokens of the piece s[i:j], which is not empty.
func (v *Vocabulary) piece(s string, i, j int, w *work) int {
	if v.whole.has(s, i, j) {
		return 1
	}
	return v.encode(s[i:j], w)
}

// encode returns the tokens of a text that is one piece.
func (v *Vocabulary) encode(s string, w *work) int {
	stack := w.tokens(0) // those up to at
	w.blocked = w.blocked[:0]
	for at := 0; at < len(s); {
		try, to := v.trie.longest(v.texts, s, at)
		if try == none {
			return len(s) // a vocabulary that lacks bytes
		}
		open := at > 0 && v.borders.open(s, at)
		for w.isBlocked(to) || open && !v.neighbours(stack[len(stack)-1], try) {
			if try = v.prefix[try]; try == none {
				if len(stack) == 0 {
					return len(s) // a vocabulary that nobody learnt by merging
				}
				// Nothing goes on from here: the token before must end elsewhere.
				w.block(at, len(s))
				try = stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				at -= v.texts.size(try)
				open = at > 0 && v.borders.open(s, at)
			}
			to = at + v.texts.size(try)
		}
		stack = append(stack, try)
		at = to
	}
	w.stack = stack
	return len(stack)
}

// tokens returns an empty list with room for n tokens, which is the last such list.
func (w *work) tokens(n int) []Token {
	if w.stack == nil {
		w.stack = w.room[:0]
	}
	if n > cap(w.stack) {
		w.stack = make([]Token, 0, n)
	}
	return w.stack[:0]
}

func (w *work) isBlocked(at int) bool {
	return len(w.blocked) > 0 && w.blocked[at/64]&(1<<(at%64)) != 0
}

// block blocks a place of a text of a size.
func (w *work) block(at, size int) {
	if len(w.blocked) == 0 {
		words := size/64 + 1
		if cap(w.blocked) < words {
			w.blocked = make([]uint64, words)
		}
		w.blocked = w.blocked[:words]
		clear(w.blocked)
	}
	w.blocked[at/64] |= 1 << (at % 64)
}
