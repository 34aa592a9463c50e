import { channel } from 'node:diagnostics_channel';
import { afterEach, expect, test } from 'vitest';
import { type Address, isGlobal } from '../../../../functions/events/post/address.ts';
import { challenge } from '../../../../functions/events/post/challenge.ts';
import { postSigned } from '../../../../functions/events/post/post.ts';
import { startReceiver } from './receiver.ts';

/** Addresses that the internet does not reach, by the registries of IANA. */
const IPV4 = `0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.0.0.2 127.1.2.3
  127.255.255.254 169.254.0.1 169.254.169.254 169.254.169.253 169.254.170.2 169.254.169.123 172.16.0.1 172.17.0.1
  172.31.255.255 192.0.0.1 192.0.0.8 192.0.0.170 192.0.2.1 192.0.2.255 192.88.99.1 192.168.0.1 192.168.1.1
  192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 203.0.113.255 224.0.0.1 224.0.0.251 232.1.1.1
  239.255.255.250 240.0.0.1 250.1.1.1 255.255.255.254 255.255.255.255`;
const IPV6 = `:: ::1 ::2 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:192.168.1.1 ::ffff:8.8.8.8
  ::ffff:7f00:1 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 ::127.0.0.1 ::10.0.0.1 ::8.8.8.8 64:ff9b::7f00:1 64:ff9b::a00:1
  64:ff9b::a9fe:a9fe 64:ff9b:1::1 64:ff9b:1:ffff::1 100::1 100::ffff 2001::1 2001:0:7f00:1:: 2001:2::1 2001:3::1
  2001:10::1 2001:1f::1 2001:20::1 2001:2f::1 2001:30::1 2001:db8::1 2001:db8:ffff::1 2002:7f00:1:: 2002:a00:1::
  2002:a9fe:a9fe:: 2002:c0a8:101::1 2002:808:808:: 2620:4f:8000::1 3fff::1 3fff:fff::1 4000::1 5f00::1 8000::1 a000::1
  e000::1 f000::1 fc00::1 fd00::1 fd00:ec2::254 fd12:3456:789a::1 fdff:ffff::1 fe00::1 fe80::1 fe80::a9fe:a9fe
  febf::1 fec0::1 feff::1 ff00::1 ff02::1 ff02::fb ff05::1:3 ff0e::1`;
/** Other ways to write an address, which resolvers and parsers of URLs understand. */
const WRITTEN = `127.1 127.0.1 2130706433 0x7f.0.0.1 0x7f000001 0x7F.1 0177.0.0.1 0177.1 017700000001 0 0x0 00.00.00.00
  10.1 012.0.0.1 0xa.0.0.1 167772161 0x0a000001 169.16689662 2852039166 0xa9fea9fe 0xa9.0xfe.0xa9.0xfe 0251.0376.0251.0376
  3232235777 0xc0a80101 0300.0250.1.1 %31%32%37.0.0.1 127.0.0.1. 127%2e0.0.1 [::1%25lo] [0:0:0:0:0:0:0:1]
  [0000:0000:0000:0000:0000:0000:0000:0001] [::ffff:0x7f.1] [::FFFF:127.0.0.1] [0:0:0:0:0:ffff:7f00:1] [fd00:EC2::254]
  １２７.０.０.１ ⑫⑦.0.0.1 127。0。0。1 4294967295 037777777777`;
/** Names, and what the resolver says. One private address among public ones is enough. */
const PUBLIC = '93.184.215.14';
const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.1'],
  'localhost.': ['127.0.0.1'],
  LOCALHOST: ['::1'],
  'localhost.localdomain': ['127.0.0.1', '::1'],
  'app.localhost': ['127.0.0.1'],
  'localtest.me': ['127.0.0.1'],
  '127.0.0.1.nip.io': ['127.0.0.1'],
  '169.254.169.254.sslip.io': ['169.254.169.254'],
  'metadata.google.internal': ['169.254.169.254'],
  'instance-data.ec2.internal': ['169.254.169.254'],
  'ip-10-0-0-1.ec2.internal': ['10.0.0.1'],
  'vpce-1.dynamodb.example': ['10.0.3.4', '10.0.4.4'],
  'database.internal': ['172.31.4.4'],
  'kubernetes.default.svc': ['10.96.0.1'],
  'router.lan': ['192.168.1.1'],
  'carrier.example': ['100.64.3.3'],
  'first-private.example': ['10.0.0.1', PUBLIC],
  'last-private.example': [PUBLIC, '10.0.0.1'],
  'private-among.example': [PUBLIC, '192.168.0.9', PUBLIC],
  'mapped.example': ['::ffff:10.0.0.1'],
  'mapped-last.example': ['2606:4700::1111', '::ffff:7f00:1'],
  'unique-local.example': ['fd00:ec2::254'],
  'link-local.example': ['fe80::1%eth0'],
  'nat64.example': ['64:ff9b::a9fe:a9fe'],
  'six-to-four.example': ['2002:7f00:1::'],
  'teredo.example': ['2001:0:7f00:1::'],
  'unspecified.example': ['0.0.0.0'],
  'unspecified-6.example': ['::'],
  'multicast.example': ['224.0.0.251'],
  'broadcast.example': ['255.255.255.255'],
  'nothing.example': [],
  'xn--bcher-kva.example': ['10.0.0.1'],
  'bücher.example': ['10.0.0.1'],
};
const SCHEMES = `http://${PUBLIC}/ http://receiver.example/ ftp://receiver.example/ ftps://receiver.example/ file:///etc/passwd
  file://receiver.example/etc/passwd gopher://receiver.example:70/_ dict://receiver.example:11211/ ldap://receiver.example/
  data:application/json,{} javascript:alert(1) blob:https://receiver.example/1 ws://receiver.example/ wss://receiver.example/
  //receiver.example/ /events events receiver.example receiver.example:443 https:// https://?a https://:443/
  https://receiver.example:99999/ https://user@receiver.example/ https://user:secret@receiver.example/ https://:secret@receiver.example/
  https://${PUBLIC}@127.0.0.1/ https://127.0.0.1\\@receiver.example/ https://[::1 https://[12345::1]/ https://a%00b.example/
  https://a<b.example/ jar:https://receiver.example!/ about:blank mailto:a@receiver.example s3://bucket/key`;

const words = (text: string) => text.trim().split(/\s+/);
const urls = [
  ...words(IPV4).map((address) => `https://${address}/events?a=1`),
  ...words(IPV6).map((address) => `https://[${address}]/events?a=1`),
  ...words(WRITTEN).map((address) => `https://${address}:8443/events`),
  ...Object.keys(NAMES).map((name) => `https://${name}/events`),
  ...words(SCHEMES),
];
const resolve = async (name: string): Promise<readonly Address[]> => {
  const known = NAMES[name] ?? NAMES[name.toUpperCase()] ?? (name.startsWith('xn--') ? ['10.0.0.1'] : undefined);
  // Each name of the schemes is public: only the scheme can be the reason to refuse.
  return (known ?? [PUBLIC]).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

/** Each connection that Node begins, to any place. */
const connections: unknown[] = [];
const connects = (message: unknown) => connections.push(message);
channel('net.client.socket').subscribe(connects);
afterEach(() => connections.splice(0));

const post = {
  secrets: [`whsec_${Buffer.alloc(32, 7).toString('base64')}`],
  webhookId: 'evt_1',
  subscriptionId: 'sub_1',
};
const secret = post.secrets[0] ?? '';

test('this list has more than 200 addresses, names and schemes, each once', () => {
  expect(new Set(urls).size).toBe(urls.length);
  expect(urls.length).toBeGreaterThan(200);
});

test('no event is sent to an address that is not public, and no connection begins', async () => {
  for (const url of urls) {
    expect([url, await postSigned({ ...post, url, body: '{}' }, { resolve })]).toEqual([
      url,
      { error: 'connection_refused' },
    ]);
  }
  expect(connections.length).toBe(0);
});

test('no challenge is sent there, and the reason is the same as of a closed port', async () => {
  for (const url of urls) {
    const refused = await challenge({ url, secret, subscriptionId: 'sub_1' }, { resolve });
    expect([url, refused]).toEqual([url, 'connection_refused']);
  }
  expect(connections.length).toBe(0);
});

test('with the switch for this machine, all others stay refused', async () => {
  const outside = [
    ...words(IPV4).flatMap((address) => (address.startsWith('127.') ? [] : [`http://${address}/`])),
    ...words(IPV6).flatMap((address) => (address === '::1' ? [] : [`http://[${address}]/`])),
    ...Object.entries(NAMES).flatMap(([name, all]) =>
      all.some((one) => /^(127|::1$)/.test(one)) ? [] : [`http://${name}/`],
    ),
  ];
  expect(outside.length).toBeGreaterThan(120);
  for (const url of outside) {
    const answer = await postSigned({ ...post, url, body: '{}' }, { resolve, loopback: true });
    expect([url, answer]).toEqual([url, { error: 'connection_refused' }]);
  }
  expect(connections.length).toBe(0);
});

test('a name that gives another address at each question is asked once, and this address is used', async () => {
  const { url, received } = await startReceiver();
  const answers = ['127.0.0.1', '10.0.0.1', '10.0.0.2'];
  const rebinding = async () => [{ address: answers.shift() ?? '10.0.0.3', family: 4 }];
  const { port } = new URL(url);
  const to = { ...post, url: `http://rebinding.example:${port}/`, body: '{}' };
  expect(await postSigned(to, { resolve: rebinding, loopback: true })).toMatchObject({ status: 204 });
  expect(received.map(({ headers }) => headers.host)).toEqual([`rebinding.example:${port}`]);
  expect(await postSigned(to, { resolve: rebinding, loopback: true })).toEqual({ error: 'connection_refused' });
  expect(answers).toEqual(['10.0.0.2']);
  expect(connections.length).toBe(1);
});

test.each([PUBLIC, '8.8.8.8', '1.1.1.1', '2606:4700::1111', '2a00:1450:4001:80b::200e', '172.32.0.1', '100.128.0.1'])(
  '%s is public',
  (address) => expect(isGlobal(address)).toBe(true),
);
