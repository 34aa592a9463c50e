import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { runtimeError } from './failure.ts';
import { isModuleFile, loadAsDeployed } from './module-format.ts';

export type Callback = (error: unknown, value?: unknown) => void;
export type UserHandler = (event: unknown, second: unknown, third?: unknown) => unknown;

export interface LoadedHandler {
  call: UserHandler;
  streaming: boolean;
}

export const streamingMark = Symbol.for('aws.lambda.runtime.handler.streaming');

export async function loadHandler(codePath: string, handlerString: string): Promise<LoadedHandler> {
  const { modulePath, exportPath } = parseHandlerString(handlerString);
  const root = realpathSync(codePath); // Node identifies modules by their real path
  loadAsDeployed(root);
  const exported = findExport(await loadModule(root, modulePath), exportPath);
  if (!exported) throw runtimeError('HandlerNotFound', `${handlerString} is undefined or not exported`);
  if (typeof exported !== 'function') throw runtimeError('HandlerNotFound', `${handlerString} is not a function`);
  return describe(exported as UserHandler);
}

function parseHandlerString(handlerString: string): { modulePath: string; exportPath: string[] } {
  const name = basename(handlerString);
  const dot = name.indexOf('.');
  if (handlerString.includes('..') || dot < 1 || dot === name.length - 1) {
    throw runtimeError('MalformedHandlerName', `'${handlerString}' is not a valid handler name.`);
  }
  return {
    modulePath: join(dirname(handlerString), name.slice(0, dot)),
    exportPath: name.slice(dot + 1).split('.'),
  };
}

async function loadModule(codePath: string, modulePath: string): Promise<unknown> {
  const file = ['.js', '.mjs', '.cjs'].map((extension) => join(codePath, modulePath + extension)).find(existsSync);
  if (!file) throw runtimeError('ImportModuleError', `Error: Cannot find module '${modulePath}'`);
  try {
    return isModuleFile(file, codePath) ? await import(pathToFileURL(file).href) : createRequire(file)(file);
  } catch (error) {
    throw explainLoadError(error);
  }
}

function explainLoadError(error: unknown): unknown {
  if (error instanceof SyntaxError) {
    const explained = runtimeError('UserCodeSyntaxError', String(error));
    if (error.stack) explained.stack = error.stack;
    return explained;
  }
  const missing = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
  return missing ? runtimeError('ImportModuleError', String(error)) : error;
}

function findExport(loaded: unknown, path: string[]): unknown {
  const found = follow(loaded, path);
  return found ?? follow(follow(loaded, ['default']), path);
}

function follow(value: unknown, path: string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = (current as Record<string, unknown>)[key];
  }
  return current;
}

function describe(call: UserHandler): LoadedHandler {
  const marks = call as unknown as Record<symbol, unknown>;
  const streaming = marks[streamingMark] === 'response';
  if (call.length > 2 && !streaming) {
    console.warn('This handler takes a callback: the nodejs24.x runtime refuses it, older ones take it.');
  }
  return { call, streaming };
}
