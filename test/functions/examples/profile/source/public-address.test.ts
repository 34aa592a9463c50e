import { describe, expect, test } from 'vitest';
import {
  type Address,
  isPublic,
  publicAddresses,
} from '../../../../../functions/examples/profile/source/public-address.ts';

const answer = (...addresses: string[]) => {
  return async (): Promise<Address[]> =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

describe('isPublic', () => {
  test.each(['8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.1', '192.169.0.1', '2606:4700::1111', '2a00:1450::1'])(
    '%s is',
    (address) => {
      expect(isPublic(address)).toBe(true);
    },
  );

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.0.1',
    '169.254.169.254',
    '169.254.170.2',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    'localhost',
    '',
  ])('%s is not', (address) => {
    expect(isPublic(address)).toBe(false);
  });
});

describe('publicAddresses', () => {
  test('of a public host are what DNS says', async () => {
    const addresses = await publicAddresses(new URL('https://data.example/'), answer('8.8.8.8', '2a00::1'));
    expect(addresses).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2a00::1', family: 6 },
    ]);
  });

  test('one private address among public ones is refused', async () => {
    const asked = publicAddresses(new URL('https://rebind.example/'), answer('8.8.8.8', '169.254.169.254'));
    await expect(asked).rejects.toThrow('rebind.example is not on the public internet');
  });

  test.each([
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://2130706433/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/latest/meta-data/',
  ])('%s is refused without asking DNS', async (url) => {
    const unasked = async (): Promise<Address[]> => {
      throw new Error('asked');
    };
    await expect(publicAddresses(new URL(url), unasked)).rejects.toThrow(/not on the public internet/);
  });

  test('localhost is refused by what it really resolves to', async () => {
    await expect(publicAddresses(new URL('https://localhost/'))).rejects.toMatchObject({ name: 'ToolError' });
  });

  test('an unknown host is not found', async () => {
    const fails = async (): Promise<Address[]> => {
      throw new Error('ENOTFOUND');
    };
    await expect(publicAddresses(new URL('https://nowhere.example/'), fails)).rejects.toThrow(/was not found/);
    await expect(publicAddresses(new URL('https://nowhere.example/'), answer())).rejects.toThrow(/was not found/);
  });
});
