package main

// What the example prints is what it claims.
func Example() {
	main()
	// Output:
	// ask_north: [rein: run RUN.1 of the agent ask_north: answered, ok, 2 steps, 1 tool call]
	// We have 10 lamps.
	// ask_south: [rein: run RUN.2 of the agent ask_south: answered, ok, 2 steps, 1 tool call]
	// We have 40 lamps.
	// ask_west: {"ok":false,"error_type":"agent_step_limit","message":"run RUN.3 of the agent ask_west: step_limit, not ok, 3 steps, 2 tool calls; the limit of 2 steps is reached; what it has come to stands below","hint":"use what it has come to; for the rest give it a smaller task, or do it by yourself","retryable":false}
	// We have at least 50 lamps, on two of our shelves; the others were not counted.
	// send_ada: [rein: run RUN.4 of the agent send_ada: answered, ok, 2 steps, 1 tool call]
	// I drive. (van 7 is booked)
	// send_ben: [rein: run RUN.5 of the agent send_ben: answered, ok, 2 steps, 1 tool call]
	// I drive. (van 7 is booked)
	//
	// North: 10 lamps. South: 40 lamps. West: at least 50 lamps.
	// Van 7 was booked 1 time.
}
