package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

type question struct {
	Path string          `json:"path"`
	Data json.RawMessage `json:"data"`
}

// A finding is a value, or says that there is none, or why it cannot be looked for.
type finding struct {
	Value   any    `json:"value"`
	Missing bool   `json:"missing"`
	Error   string `json:"error"`
	// Whether the same search found something else another time, because Go shuffles its maps, or
	// ended in a panic: nobody relies on either.
	Unstable bool `json:"unstable"`
}

// How often a search is repeated to find out whether it is stable.
const attempts = 6

var (
	errMissing  = errors.New("jsonpath returned empty list")
	errPanicked = errors.New("panicked")
)

// answerPath takes an expression and an object, and returns the one value the expression leads to.
func answerPath(line []byte) (any, error) {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	data, err := decode(asked.Data)
	if err != nil {
		return nil, err
	}
	answer := search(asked.Path, data)
	for range attempts {
		if !reflect.DeepEqual(search(asked.Path, data), answer) {
			answer.Unstable = true
		}
	}
	return answer, nil
}

func search(path string, data any) finding {
	value, err := find(path, data)
	switch {
	case errors.Is(err, errMissing):
		return finding{Missing: true}
	case errors.Is(err, errPanicked):
		return finding{Unstable: true}
	case err != nil:
		return finding{Error: err.Error()}
	}
	return finding{Value: value}
}

// find follows a path by the rules of Cartographer: braces and the first dot may be left out, keys
// may be absent, and there is one value.
func find(path string, data any) (value any, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = errPanicked
		}
	}()
	if path == "" {
		return nil, errors.New("empty jsonpath not allowed")
	}
	parser := jsonpath.New("").AllowMissingKeys(true)
	if err := parser.Parse(brace(path)); err != nil {
		return nil, fmt.Errorf("failed to parse jsonpath '%s': %w", brace(path), err)
	}
	queries, err := parser.FindResults(data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("failed to find results: %w", err)
	case len(queries) > 1:
		return nil, errors.New("more queries than expected")
	case len(queries) == 0 || len(queries[0]) == 0:
		return nil, errMissing
	case len(queries[0]) > 1:
		return nil, errors.New("too many results for the query")
	}
	return queries[0][0].Interface(), nil
}

func brace(path string) string {
	path = strings.TrimPrefix(path, "{")
	if !strings.HasPrefix(path, ".") {
		path = "." + path
	}
	if !strings.HasSuffix(path, "}") {
		path += "}"
	}
	return "{" + path
}

// decode reads JSON as Kubernetes does: numbers are integers where they can be.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return withNumbers(value)
}

func withNumbers(value any) (any, error) {
	var err error
	switch value := value.(type) {
	case json.Number:
		if integer, err := value.Int64(); err == nil {
			return integer, nil
		}
		return value.Float64()
	case []any:
		for index := range value {
			if value[index], err = withNumbers(value[index]); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		for key := range value {
			if value[key], err = withNumbers(value[key]); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}
