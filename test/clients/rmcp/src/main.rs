//! rmcp, the official Rust SDK, 2026-07-28.
use std::{collections::BTreeMap, env, error::Error, time::Duration};

use rmcp::{
    model::*,
    service::{ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService},
    transport::StreamableHttpClientTransport,
};
use serde_json::{Value, from_value, json, to_value};

type Client = RunningService<RoleClient, ClientConfig>;
type Done<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Done<()> {
    let [url, step] = [1, 2].map(|n| env::args().nth(n).expect("URL STEP"));
    let capabilities = from_value(
        json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } }),
    )?;
    let client = ClientConfig::new(capabilities, Implementation::from_build_env())
        .serve_with_lifecycle(
            StreamableHttpClientTransport::from_uri(url),
            ClientLifecycleMode::Discover {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            },
        )
        .await?;
    match step.as_str() {
        "run" => {
            settle(
                &client,
                &call(
                    &client,
                    json!({ "name": "count", "arguments": { "to": 4 } }),
                )
                .await?,
            )
            .await?
        }
        "question" => settle(&client, &call(&client, json!({ "name": "split" })).await?).await?,
        _ => {
            let id = call(&client, json!({ "name": "wait" })).await?;
            client
                .cancel_task(from_value(json!({ "taskId": id }))?)
                .await?;
            println!(
                "{}",
                json!({ "status": client.get_task(GetTaskParams::new(&id)).await?.task.status() })
            );
        }
    }
    Ok(())
}

async fn call(client: &Client, params: Value) -> Done<String> {
    let CallToolResponse::Task(created) = client.call_tool_once(from_value(params)?).await? else {
        return Err("no task".into());
    };
    println!("{}", json!({ "task": created.task.task_id }));
    Ok(created.task.task_id)
}

async fn settle(client: &Client, id: &str) -> Done<()> {
    loop {
        let DetailedTask { task, payload, .. } =
            client.get_task(GetTaskParams::new(id)).await?.task;
        match payload {
            TaskPayload::Working => println!("{}", json!({ "progress": task.status_message })),
            TaskPayload::InputRequired { input_requests } => {
                let mut answers = BTreeMap::new();
                for (key, request) in input_requests {
                    let request = to_value(request)?;
                    println!("{}", json!({ "question": request["params"]["message"] }));
                    let fields = request["params"]["requestedSchema"]["properties"]
                        .as_object()
                        .ok_or("no form")?;
                    let content: BTreeMap<_, _> = fields.keys().map(|name| (name, 4)).collect();
                    answers.insert(key, json!({ "action": "accept", "content": content }));
                }
                client
                    .update_task(from_value(
                        json!({ "taskId": id, "inputResponses": answers }),
                    )?)
                    .await?;
            }
            TaskPayload::Completed { result } => {
                println!("{}", json!({ "result": result["content"][0]["text"] }));
                return Ok(());
            }
            other => return Err(format!("{other:?}").into()),
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
