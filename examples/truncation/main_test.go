package main

// What the example prints is what it claims.
func Example() {
	main()
	// Output:
	// The tool cuts at 8,000 characters, silently:
	//   read_source: package billing
	//   model: The function total is missing. I write it.
	//   append_to_source: added at the end
	//   check_source: it does not compile: billing.go:439:6: total redeclared in this block
	//   model: Done: it does not compile: billing.go:439:6: total redeclared in this block.
	//   → functions named total: 2; it does not compile: billing.go:439:6: total redeclared in this block
	//
	// The tool returns everything, and Rein cuts:
	//   read_source: [rein: lines 1-235 of 437 shown, of 12099 bytes in all; for the rest call read_artifact with {"call":"call_1_1","from":236}]
	//   model: This is not all of it.
	//   read_artifact: [rein: lines 236-437 of 437 of the result of read_source, call call_1_1 (to the end)]
	//   model: There it is.
	//   replace_in_source: replaced sum += i.price
	//   check_source: it compiles
	//   model: Done: it compiles.
	//   → functions named total: 1; it compiles
}
