module pathline.dev/oracle

go 1.26.0

require (
	gopkg.in/yaml.v3 v3.0.1
	k8s.io/client-go v0.36.3
)
