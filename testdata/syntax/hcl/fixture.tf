# Where it runs.
terraform {
  required_version = ">= 1.0"
}

variable "region" {
  description = "The region."
  default     = "eu"
}

locals {
  name = "bank-${var.region}"
}

# The machine.
resource "aws_instance" "web" {
  ami   = data.aws_ami.ubuntu.id
  count = length(var.names)

  tags = {
    Name = local.name
  }

  lifecycle {
    ignore_changes = [ami]
  }
}

module "network" {
  source = "./modules/network"
  cidr   = cidrsubnet(var.cidr, 8, 1)
}

output "address" {
  value = aws_instance.web.public_ip
}

data "aws_ami" "ubuntu" {
  owners = [module.network.owner, each.key, path.module]
}
