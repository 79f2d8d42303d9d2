module rein.example/rein/tools/vocab

go 1.26
