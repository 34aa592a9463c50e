import { CfnOutput } from 'aws-cdk-lib';
import { EndpointType, type RestApi, type RestApiProps, SecurityPolicy } from 'aws-cdk-lib/aws-apigateway';
import { ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGateway } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import type { Domain } from '../server-props.ts';

/**
 * Puts the API at a custom name, with an empty base path, so clients find the metadata of OAuth at the root of the host.
 * The name that API Gateway makes is disabled, so callers have only one.
 */
export function domainProps({ name, certificate }: Domain): Partial<RestApiProps> {
  return {
    disableExecuteApiEndpoint: true,
    domainName: {
      domainName: name,
      certificate,
      endpointType: EndpointType.REGIONAL,
      securityPolicy: SecurityPolicy.TLS_1_2,
    },
  };
}

/** Adds the name to the zone, or an output with the target of a CNAME. */
export function pointDomain(scope: Construct, api: RestApi, { name, hostedZone: zone }: Domain): void {
  // This output has the URL that is disabled.
  api.node.tryRemoveChild('Endpoint');
  if (zone !== undefined) {
    new ARecord(scope, 'Alias', { zone, recordName: name, target: RecordTarget.fromAlias(new ApiGateway(api)) });
  } else if (api.domainName !== undefined) {
    const value = api.domainName.domainNameAliasDomainName;
    new CfnOutput(scope, 'DomainTarget', { description: `Where ${name} is to lead`, value });
  }
}
