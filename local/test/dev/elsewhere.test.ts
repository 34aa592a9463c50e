import { expect, test } from 'vitest';
import { readElsewhere } from '../../dev/elsewhere.ts';

test('each variable says where tools go; what runs here stays here', () => {
  const env = {
    AWS_ENDPOINT_URL_SQS: 'http://localhost:4566',
    ...{ AWS_ENDPOINT_URL_DYNAMODB: 'http://localhost:4566', AWS_ENDPOINT_URL: 'x', AWS_REGION: 'eu-central-1' },
  };
  expect(readElsewhere(env)).toEqual({
    variables: { AWS_ENDPOINT_URL_SQS: 'http://localhost:4566' },
    said: [
      'AWS_ENDPOINT_URL_SQS: tools reach http://localhost:4566',
      'AWS_ENDPOINT_URL_DYNAMODB is left out: DYNAMODB runs here',
    ],
  });
});

test('a value without a URL is refused by the variable', () => {
  expect(() => readElsewhere({ AWS_ENDPOINT_URL_SNS: 'yes' })).toThrow('AWS_ENDPOINT_URL_SNS is not a URL: yes');
});
