import { onTestFinished, vi } from 'vitest';

/** For one test: plans and judge take the tools for what they are on Express. */
export function useExpress(): void {
  vi.stubEnv('MCP_TEST_ENGINE', 'express');
  onTestFinished(() => void vi.unstubAllEnvs());
}
