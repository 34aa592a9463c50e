// The official Go SDK. It has no tasks: a call that outlives the inline window goes on by the helper tool.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var todo = regexp.MustCompile(`get_task_result with {"taskId":"([\w.-]+)`)

func main() {
	ctx, end := context.WithTimeout(context.Background(), 50*time.Second)
	defer end()
	client := mcp.NewClient(&mcp.Implementation{Name: "go-sdk", Version: "1.8.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: os.Args[1]}, nil)
	must(err)
	seen := call(ctx, session, "count_inline", map[string]any{"to": 6})
	for found := todo.FindStringSubmatch(seen); found != nil; found = todo.FindStringSubmatch(seen) {
		say("seen", seen)
		seen = call(ctx, session, "get_task_result", map[string]any{"taskId": found[1]})
	}
	say("result", seen)
}

func call(ctx context.Context, session *mcp.ClientSession, name string, args any) string {
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	must(err)
	return result.Content[0].(*mcp.TextContent).Text
}

func say(name string, fact any) {
	line, _ := json.Marshal(map[string]any{name: fact})
	fmt.Println(string(line))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
