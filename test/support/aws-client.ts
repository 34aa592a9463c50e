interface Sent {
  readonly constructor: { readonly name: string };
  readonly input: object;
}

/** An AWS client that asks this function. Operations are named as in the protocol: `GetSecretValue`. */
export function fakeClient<Client>(answer: (operation: string, input: object) => Promise<object>): Client {
  const send = (sent: Sent) => answer(sent.constructor.name.replace(/Command$/, ''), sent.input);
  return { send } as Client;
}
