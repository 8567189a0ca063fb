// Command go-oracle answers as the Go libraries do that Cartographer is built on. The tests compare
// Pathline with it: each line of input is a question in JSON, each line of output its answer.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

var topics = map[string]func([]byte) (any, error){
	"jsonpath": answerPath,
	"yaml":     answerYAML,
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "go-oracle:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 || topics[args[0]] == nil {
		return fmt.Errorf("usage: go-oracle jsonpath|yaml, not %q", args)
	}
	answer := topics[args[0]]
	questions := bufio.NewScanner(os.Stdin)
	questions.Buffer(nil, 16<<20)
	answers := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(answers)
	for questions.Scan() {
		given, err := answer(questions.Bytes())
		if err != nil {
			return fmt.Errorf("the question %s: %w", questions.Bytes(), err)
		}
		if err := encoder.Encode(given); err != nil {
			return err
		}
	}
	if err := questions.Err(); err != nil {
		return err
	}
	return answers.Flush()
}
