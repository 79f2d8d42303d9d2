package loop

import "testing"

// What only announces, and what is an answer though it sounds alike.
func TestAnnounces(t *testing.T) {
	for text, want := range map[string]string{
		"I will now call get_orders.":                                 "I will now call get_orders.",
		"The folder has two files. Let me read the first one:":        "Let me read the first one:",
		"Okay, first I'll search for the invoice…":                    "Okay, first I'll search for the invoice…",
		"I have what I need.\n\nNext, I am going to check the stock.": "Next, I am going to check the stock.",
		"**Now let me run the tests.**":                               "**Now let me run the tests.",
		"To begin, I need to look at the file.":                       "To begin, I need to look at the file.",
		"I’ll list the directory.":                                    "I’ll list the directory.",
		"Let me know if you want more.":                               "",
		"I will check again once the order has arrived.":              "",
		"I can search for it if that helps.":                          "",
		"Shall I delete it? Or should I try the other?":               "",
		"I will need your order number.":                              "",
		"There are 3 late orders: 12, 15 and 19.":                     "",
		"I checked the stock. Let me know.":                           "",
		"I'll be happy to help.":                                      "",
		"I will proceed when you confirm.":                            "",
		"First I will read the file.\n\nThe file says that it is 7.":  "",
		"The plan: I will read both files later.":                     "",
		"They wrote: we will check it tomorrow.":                      "",
		"":                                                            "",
		"I should read the manual. It says 40 Nm.":                    "",
		"Use `rein run`. I will not call it.":                         "",
	} {
		if got, ok := announces(text); got != want && ok || ok != (want != "") {
			t.Errorf("%q announces %q, %v; want %q", text, got, ok, want)
		}
	}
}

func FuzzAnnounces(f *testing.F) {
	f.Add("I will now call get_orders.")
	f.Add("…: *’. \n")
	f.Fuzz(func(t *testing.T, text string) {
		if said, ok := announces(text); ok && said == "" {
			t.Error("it announces nothing")
		}
	})
}
