//! turul-mcp-client with its feature `ext-tasks`, 2026-07-28.
use std::{collections::BTreeMap, env, error::Error, time::Duration};

use serde_json::{Value, json, to_value};
use turul_mcp_client::{ClientConfig, McpClient, McpClientBuilder, ToolCallOutcome};

type Done<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Done<()> {
    let [url, step] = [1, 2].map(|n| env::args().nth(n).expect("URL STEP"));
    let mut config = ClientConfig::default();
    config.declared_capabilities.elicitation = true;
    config.declared_capabilities.ext_tasks = true;
    let client = McpClientBuilder::new()
        .with_url(&url)?
        .with_config(config)
        .build();
    client.connect().await?;
    match step.as_str() {
        "run" => settle(&client, &call(&client, "count", json!({ "to": 4 })).await?).await?,
        "question" => settle(&client, &call(&client, "split", json!({})).await?).await?,
        _ => {
            let id = call(&client, "wait", json!({})).await?;
            client.task_cancel(&id).await?;
            println!(
                "{}",
                json!({ "status": client.task_wait(&id).await?.status() })
            );
        }
    }
    Ok(())
}

async fn call(client: &McpClient, name: &str, arguments: Value) -> Done<String> {
    let ToolCallOutcome::Task(created) = client.call_tool_or_task(name, arguments).await? else {
        return Err("no task".into());
    };
    let id = created.task.fields.task_id;
    println!("{}", json!({ "task": id }));
    Ok(id)
}

async fn settle(client: &McpClient, id: &str) -> Done<()> {
    loop {
        let task = to_value(client.task_get(id).await?)?;
        match task["status"].as_str() {
            Some("working") => println!("{}", json!({ "progress": task["statusMessage"] })),
            Some("input_required") => {
                let mut answers = BTreeMap::new();
                for (key, request) in task["inputRequests"].as_object().ok_or("no questions")? {
                    println!("{}", json!({ "question": request["params"]["message"] }));
                    let fields = request["params"]["requestedSchema"]["properties"]
                        .as_object()
                        .ok_or("no form")?;
                    let content: BTreeMap<_, _> = fields.keys().map(|name| (name, 4)).collect();
                    answers.insert(key, json!({ "action": "accept", "content": content }));
                }
                client.task_update(id, json!(answers)).await?;
            }
            Some("completed") => {
                println!(
                    "{}",
                    json!({ "result": task["result"]["content"][0]["text"] })
                );
                return Ok(());
            }
            _ => return Err(task.to_string().into()),
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
