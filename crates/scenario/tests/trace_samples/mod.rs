//! A small trace of each format.

use tierscope_scenario::TraceFormat;

pub(crate) const MOONCAKE: &str = "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}\n\
    {\"timestamp\": 27.5, \"input_length\": 1024, \"output_length\": 52, \"hash_ids\": [0, 2], \"session_id\": \"a\\\"b\"}\n\
    {\"session_id\": \"a\\\"b\", \"delay\": 3.25, \"input_length\": 1030, \"output_length\": 1, \"hash_ids\": [0, 2, 18446744073709551613], \
    \"priority\": -3, \"request_id\": 7}\n\
    {\"wait_for\": [7], \"tool_wait_ms\": 1, \"input_length\": 3, \"output_length\": 1, \"hash_ids\": null, \"policy_class\": \"x\"}\n";

pub(crate) const DELTA: &str = "{\"timestamp\": 0, \"input_length\": 4, \"output_length\": 2, \"hash_ids\": [1], \"session_id\": 0, \"block_size\": 4}\n\
    {\"delay\": 5, \"input_length\": 2, \"output_length\": 1, \"hash_ids\": [2], \"session_id\": 0}\n";

pub(crate) const WEKA: &str = "{\"id\": \"x\", \"block_size\": 64, \"hash_id_scope\": \"local\", \"requests\": [\n\
    {\"t\": 0.0, \"type\": \"n\", \"in\": 130, \"out\": 5, \"hash_ids\": [1, 2], \"api_time\": 3.0},\n\
    {\"t\": 4.0, \"type\": \"subagent\", \"agent_id\": \"a\", \"requests\": [\n\
    {\"t\": 0.0, \"type\": \"s\", \"in\": 64, \"out\": 7, \"hash_ids\": [1], \"api_time\": 1.5, \"think_time\": 0},\n\
    {\"t\": 2.0, \"type\": \"n\", \"in\": 100, \"out\": 7, \"hash_ids\": [1], \"api_time\": 1}]},\n\
    {\"t\": 9.5, \"type\": \"n\", \"in\": 200, \"out\": 6, \"hash_ids\": [1, 2, 3]}]}\n";

pub(crate) const DYNAMO: &str = "{\"timestamp\": 5, \"event\": {\"schema\": \"dynamo.request.trace.v1\", \"event_type\": \"request_end\", \"event_time_unix_ms\": 1779163050197, \
    \"agent_context\": {\"session_id\": \"root\"}, \"request\": {\"request_id\": \"a\", \"output_tokens\": 3, \"request_received_ms\": 1779163048815, \
    \"total_time_ms\": 1381.5, \"replay\": {\"trace_block_size\": 16, \"input_length\": 20, \"input_sequence_hashes\": [15497297196416048079, 7]}}}}\n\
    {\"timestamp\": 6, \"event\": {\"schema\": \"dynamo.request.trace.v1\", \"event_type\": \"tool_start\", \"tool\": {}}}\n\
    {\"schema\": \"dynamo.request.trace.v1\", \"event_type\": \"request_end\", \"event_time_unix_ms\": 1779163050900, \"agent_context\": {\"session_id\": \"child\", \
    \"parent_session_id\": \"root\"}, \"request\": {\"output_tokens\": 4, \"request_received_ms\": 1779163050400, \"replay\": {\"trace_block_size\": 16, \
    \"input_length\": 16, \"input_sequence_hashes\": [15497297196416048079]}}}\n";

pub(crate) const QWEN: &str = "{\"chat_id\": 10, \"parent_chat_id\": -1, \"timestamp\": 61.114, \"input_length\": 33, \"output_length\": 4, \"type\": \"text\", \"turn\": 1, \"hash_ids\": [5, 6, 7]}\n\
    {\"chat_id\": 11, \"parent_chat_id\": -1, \"timestamp\": 61.5, \"input_length\": 16, \"output_length\": 4, \"type\": \"text\", \"turn\": 1, \"hash_ids\": [9]}\n\
    {\"chat_id\": 12, \"parent_chat_id\": 10, \"timestamp\": 70, \"input_length\": 50, \"output_length\": 4, \"type\": \"text\", \"turn\": 2, \"hash_ids\": [5, 6, 8]}\n";

pub(crate) const LMCACHE: &str = "{\"timestamp\": 1711929600.5, \"request_id\": \"a\", \"model_name\": \"m\", \"chunk_size\": 256, \"seq_len\": 600, \"dtypes\": [\"x\"], \"shapes\": [[1]], \
    \"chunk_hashes\": [\"0xab\", \"0xcdef\"]}\n\
    {\"timestamp\": 1711929600.25, \"request_id\": \"b\", \"model_name\": \"m\", \"chunk_size\": 256, \"seq_len\": 256, \"chunk_hashes\": [\"0xab\"]}\n\
    {\"timestamp\": 1711929601, \"request_id\": \"a\", \"model_name\": \"m\", \"chunk_size\": 256, \"seq_len\": 600, \"chunk_hashes\": [\"0xab\", \"0xcdef\"]}\n";

pub(crate) const AZURE: &str = "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n";

pub(crate) const BURSTGPT: &str = "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
    45.0,1722ac82,43,GPT-4,906,446,1352,Conversation log\n61.5,d5983bf9,2,ChatGPT,36,0,36,Conversation log\n62,1722ac82,1,GPT-4,1400,20,1420,\"Conversation log\"\n\
    70,,1,ChatGPT,5,6,11,API log\n";

/// Each format, its sample, and a name that says nothing.
pub(crate) const ALL: [(TraceFormat, &str); 8] = [
    (TraceFormat::Mooncake, MOONCAKE),
    (TraceFormat::MooncakeDelta, DELTA),
    (TraceFormat::Weka, WEKA),
    (TraceFormat::Dynamo, DYNAMO),
    (TraceFormat::QwenBailian, QWEN),
    (TraceFormat::LmCache, LMCACHE),
    (TraceFormat::AzureCsv, AZURE),
    (TraceFormat::BurstGpt, BURSTGPT),
];
