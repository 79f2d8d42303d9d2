// Counts tokens with the npm package tiktoken, to compare with: a line of standard
// input is a JSON array of an encoding and a text, a line of output its tokens.
//
//	node count.cjs FOLDER   (the folder of node_modules/tiktoken)
const { get_encoding } = require(require("path").resolve(process.argv[2]));
const encodings = {};
require("readline")
  .createInterface({ input: process.stdin, crlfDelay: Infinity })
  .on("line", (line) => {
    const [name, text] = JSON.parse(line);
    encodings[name] ??= get_encoding(name);
    process.stdout.write(encodings[name].encode(text, [], []).length + "\n");
  });
