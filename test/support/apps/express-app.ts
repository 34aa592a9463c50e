/** The test app with its tools on Express. */
process.env.MCP_TEST_ENGINE = 'express';
await import('./app.ts');
