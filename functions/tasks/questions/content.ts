import {
  has,
  isBase64,
  isBoolean,
  isInteger,
  isNumber,
  isObject,
  isString,
  isUri,
  listOf,
  objectOf,
  oneKindOf,
  oneOf,
} from '../shape.ts';

/** Content as both revisions define it: what tools return, and what they show to the client's model. */

const isShare = (value: unknown): boolean => isNumber(value) && Number(value) >= 0 && Number(value) <= 1;
const isRole = oneOf('user', 'assistant');
const isIcon = has({ src: isUri }, { mimeType: isString, sizes: listOf(isString), theme: oneOf('light', 'dark') });

const common = {
  annotations: has({}, { audience: listOf(isRole), priority: isShare, lastModified: isString }),
  _meta: isObject,
};
const resource = { mimeType: isString, _meta: isObject };
const media = has({ data: isBase64, mimeType: isString }, common);
const linked = { title: isString, description: isString, mimeType: isString, size: isInteger, icons: listOf(isIcon) };
const plain = { text: has({ text: isString }, common), image: media, audio: media };

/** A block of a tool's result. */
export const isBlock = oneKindOf('type', {
  ...plain,
  resource_link: has({ uri: isUri, name: isString }, { ...common, ...linked }),
  resource: has(
    {
      resource: (value) =>
        has({ uri: isUri, text: isString }, resource)(value) || has({ uri: isUri, blob: isBase64 }, resource)(value),
    },
    common,
  ),
});

const isModelBlock = oneKindOf('type', {
  ...plain,
  tool_use: has({ id: isString, name: isString, input: isObject }, { _meta: isObject }),
  tool_result: has(
    { toolUseId: isString, content: listOf(isBlock) },
    { isError: isBoolean, structuredContent: isObject, _meta: isObject },
  ),
});
const isMessage = has(
  { role: isRole, content: (content) => isModelBlock(content) || listOf(isModelBlock)(content) },
  { _meta: isObject },
);

const isSchema = has(
  { type: oneOf('object') },
  { $schema: isString, properties: objectOf(isObject), required: listOf(isString) },
);
const hints = {
  readOnlyHint: isBoolean,
  destructiveHint: isBoolean,
  idempotentHint: isBoolean,
  openWorldHint: isBoolean,
};
const isTool = has(
  { name: isString, inputSchema: isSchema },
  {
    title: isString,
    description: isString,
    outputSchema: isSchema,
    icons: listOf(isIcon),
    _meta: isObject,
    annotations: has({}, { title: isString, ...hints }),
    execution: has({}, { taskSupport: isString }),
  },
);
const isPreference = has(
  {},
  {
    hints: listOf(has({}, { name: isString })),
    costPriority: isShare,
    speedPriority: isShare,
    intelligencePriority: isShare,
  },
);

/** The params of `sampling/createMessage`. */
export const isPrompt = has(
  { messages: listOf(isMessage), maxTokens: isInteger },
  {
    systemPrompt: isString,
    temperature: isNumber,
    stopSequences: listOf(isString),
    metadata: isObject,
    modelPreferences: isPreference,
    includeContext: oneOf('none', 'thisServer', 'allServers'),
    _meta: isObject,
    tools: listOf(isTool),
    toolChoice: has({}, { mode: oneOf('auto', 'required', 'none') }),
  },
);
