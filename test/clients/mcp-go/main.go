// mcp-go, 2025-11-25 with continuous listening. It cannot read the answer that creates a task, so it looks for the task
// in the list.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

type person struct{}

// Elicit answers after as long as THINK says.
func (person) Elicit(_ context.Context, asked mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	say("question", asked.Params.Message)
	think, _ := time.ParseDuration(os.Getenv("THINK"))
	time.Sleep(think)
	form, _ := json.Marshal(asked.Params.RequestedSchema)
	var schema struct{ Properties map[string]any }
	must(json.Unmarshal(form, &schema))
	content := map[string]any{}
	for name := range schema.Properties {
		content[name] = 4
	}
	answer := mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionAccept, Content: content}
	return &mcp.ElicitationResult{ElicitationResponse: answer}, nil
}

func main() {
	ctx, end := context.WithTimeout(context.Background(), 50*time.Second)
	defer end()
	listening, err := transport.NewStreamableHTTP(os.Args[1], transport.WithContinuousListening())
	must(err)
	c := client.NewClient(listening, client.WithLegacyProtocolOnly(), client.WithElicitationHandler(person{}))
	must(c.Start(ctx))
	_, err = c.Initialize(ctx, mcp.InitializeRequest{})
	must(err)
	switch os.Args[2] {
	case "run":
		result(ctx, c, call(ctx, c, "count", map[string]any{"to": 4}))
	case "question":
		result(ctx, c, call(ctx, c, "split", nil))
	default:
		request := mcp.CancelTaskRequest{}
		request.Params.TaskId = call(ctx, c, "wait", nil)
		_, err := c.CancelTask(ctx, request)
		must(err)
		say("status", get(ctx, c, request.Params.TaskId).Status)
	}
}

func call(ctx context.Context, c *client.Client, name string, args any) string {
	request := mcp.CallToolRequest{}
	request.Params = mcp.CallToolParams{Name: name, Arguments: args, Task: &mcp.TaskParams{}}
	if _, err := c.CallTool(ctx, request); err != nil {
		say("note", err.Error())
	}
	list, err := c.ListTasks(ctx, mcp.ListTasksRequest{})
	must(err)
	say("task", list.Tasks[0].TaskId)
	return list.Tasks[0].TaskId
}

func get(ctx context.Context, c *client.Client, id string) *mcp.GetTaskResult {
	request := mcp.GetTaskRequest{}
	request.Params.TaskId = id
	task, err := c.GetTask(ctx, request)
	must(err)
	return task
}

func result(ctx context.Context, c *client.Client, id string) {
	for task := get(ctx, c, id); !task.Status.IsTerminal(); task = get(ctx, c, id) {
		say("progress", task.StatusMessage)
		time.Sleep(500 * time.Millisecond)
	}
	request := mcp.TaskResultRequest{}
	request.Params.TaskId = id
	done, err := c.TaskResult(ctx, request)
	must(err)
	say("result", done.Content[0].(mcp.TextContent).Text)
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
